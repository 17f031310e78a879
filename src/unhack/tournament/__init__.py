"""Agents compete round by round; a judge measures everything and believes nothing."""
