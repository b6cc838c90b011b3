"""Packing judged apart from the planner: what is placed fits, what is refused fits nowhere."""


class Ledger:
    """The recorded nodes as they fill, in plain numbers."""

    def __init__(self, nodes):
        self.nodes = {
            node.name: [node.cpu_milli, node.memory_mib, [1000] * node.gpus, node.model]
            for node in nodes
        }

    def book(self, arrival, answer):
        """Count one answer, after proving that it is right."""
        if not answer.node:
            assert not any(self._room(arrival, node) for node in self.nodes.values())
            return
        node = self.nodes[answer.node]
        assert self._open(arrival, node)
        assert len(answer.gpus) == len(set(answer.gpus)) == arrival.gpus
        node[0] -= arrival.cpu_milli
        node[1] -= arrival.memory_mib
        for gpu in answer.gpus:
            node[2][gpu] -= arrival.gpu_milli
            assert node[2][gpu] >= 0

    def _open(self, arrival, node):
        fits = node[0] >= arrival.cpu_milli and node[1] >= arrival.memory_mib
        return fits and (not arrival.models or node[3] in arrival.models)

    def _room(self, arrival, node):
        free = sum(left >= arrival.gpu_milli for left in node[2]) if arrival.gpus else 0
        return self._open(arrival, node) and free >= arrival.gpus
