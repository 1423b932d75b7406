"""Where memory lives: tables, full text, vector index. Imports nothing else of ours."""
