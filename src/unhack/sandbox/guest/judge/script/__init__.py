"""Things that the script hands to the solution and keeps, and the state that goes along."""
