"""The candidate's stand-ins for what stays with the judge, and the state that goes along."""
