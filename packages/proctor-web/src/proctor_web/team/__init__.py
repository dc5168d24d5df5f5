"""The pages and operations about users, and the login by OpenID Connect."""
