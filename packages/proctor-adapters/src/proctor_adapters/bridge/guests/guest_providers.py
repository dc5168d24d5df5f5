"""Name the providers of models that a task of Inspect may ask, all of which are answered by others here."""

PROVIDERS = (
    *("openai", "anthropic", "google", "mistral", "groq", "together", "bedrock", "azureai", "grok", "cloudflare", "hf"),
    *("vllm", "sglang", "ollama", "llama-cpp-python", "openrouter", "perplexity", "openai-api", "fireworks", "deepseek"),
    *("sambanova", "goodfire", "hf-inference-providers", "transformer_lens", "openai-responses", "moonshot", "baseten"),
)  # fmt: skip
