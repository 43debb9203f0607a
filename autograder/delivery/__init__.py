"""What platforms deliver is collected into `submitted/`, and what was graded goes back to them."""
