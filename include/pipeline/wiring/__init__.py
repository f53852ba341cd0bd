"""The one place that builds adapters out of settings; a module per layer, so each loads alone."""
