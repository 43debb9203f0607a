"""What grades depend on, as digests."""
