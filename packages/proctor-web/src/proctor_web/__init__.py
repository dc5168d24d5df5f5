"""Pages in the browser: an app on this machine only, which asks nothing of any other."""
