"""Score free text: answers matched by meaning, judges that are models, review by people, and generated problems."""
