"""Changes to the block since 2017, one a module; a configuration names them."""
