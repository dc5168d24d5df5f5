# Tools with a state: public methods are the tools, public attributes the state. Put your own here.
class Shop:
    def __init__(self, stock: dict[str, int] | None = None) -> None:
        self.stock = {"tea": 3} if stock is None else stock  # each attempt at a sample gets an object of its own
        self.basket: list[str] = []

    def buy(self, item: str) -> str:
        """Buy one of an item.

        Args:
            item: its name
        """
        if not self.stock.get(item):
            raise ValueError(f"{item} is sold out")  # the model sees this as the result of its call
        self.stock[item] -= 1
        self.basket.append(item)
        return "ok"
