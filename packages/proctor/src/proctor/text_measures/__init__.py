"""Measures over texts: words, stems, ROUGE, and sentence embeddings."""
