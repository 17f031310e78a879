"""The candidate's zone: code beside which a completion runs. It knows no answer."""
