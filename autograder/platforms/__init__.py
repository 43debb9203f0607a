"""Learning platforms: what they deliver is collected into `submitted/`, and what was graded goes back to them."""
