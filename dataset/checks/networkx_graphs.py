"""Exchanges graphs with NetworkX: GraphML, GEXF, GML, Pajek, node-link JSON and DOT that it writes
and we read, GraphML that we write and it reads, and edge lists.

Run: python dataset/checks/networkx_graphs.py   (needs Go, NetworkX and pydot)
"""

import json
import os
import random
import subprocess
import sys
import tempfile

import networkx as nx

HERE = os.path.dirname(os.path.abspath(__file__))
random.seed(1)
folder = tempfile.mkdtemp()
mlg = os.path.join(folder, "mlg")
subprocess.run(["go", "build", "-o", mlg, "../../cmd/mlg"], cwd=HERE, check=True)


def run(a, b):
    subprocess.run([mlg, "--quiet", "convert", a, b], check=True)


def random_graph(k, directed):
    n = random.randrange(1, 12)
    g = nx.gnp_random_graph(n, 0.3, seed=k, directed=directed)
    g = nx.relabel_nodes(g, {v: f"v {v} é & \"q\"" if k % 3 == 0 else f"v{v}" for v in g})
    for v in g:
        g.nodes[v]["element"] = random.choice(["C", "N", "a b", "<x>", "é"])
        g.nodes[v]["charge"] = random.random()
    for e in g.edges:
        g.edges[e]["weight"] = random.choice([1.0, 0.5, 2.25])
    return g


def expected(g):
    """Names, labels and attributes in the order of the nodes, and edges by place, as we should read them."""
    place = {v: i for i, v in enumerate(g)}
    edges = {}
    for u, v, d in g.edges(data=True):
        ends = (place[u], place[v])
        edges[ends if g.is_directed() else tuple(sorted(ends))] = d["weight"]
    data = [g.nodes[v] for v in g]
    return list(g), [d["element"] for d in data], [[float(d["charge"])] for d in data], edges


def ours(path):
    with open(path) as f:
        j = json.loads(f.read())
    n = j["nodes"]
    edges = {(e[0], e[1]): (e + [1])[2] for e in j["edges"]}
    return j.get("node_names", [f"v{i}" for i in range(n)]), j["node_labels"], j.get("node_attributes"), edges


def write_node_link(g, path):
    with open(path, "w") as f:
        json.dump(nx.node_link_data(g, edges="links"), f, indent=1)


def write_pajek(g, path):
    g = g.copy()
    for v in g:
        g.nodes[v]["charge"] = repr(g.nodes[v]["charge"])  # Pajek keeps texts alone
    nx.write_pajek(g, path)


WRITE = {
    "graphml": nx.write_graphml,
    "gexf": nx.write_gexf,
    "gml": nx.write_gml,
    "net": write_pajek,
    "json": write_node_link,
    "dot": nx.drawing.nx_pydot.write_dot,
}
bad = checked = 0
for k in range(30):
    for directed in (False, True):
        g = random_graph(k, directed)
        for kind, write in WRITE.items():
            if kind in ("dot", "net"):
                # These writers do not escape: names and labels that the formats take as they are.
                g = nx.relabel_nodes(g, {v: f"v{i}" for i, v in enumerate(g)})
                for v in g:
                    g.nodes[v]["element"] = "L" + str(len(g.nodes[v]["element"]))
            path, out = os.path.join(folder, f"g.{kind}"), os.path.join(folder, "g.jsonl")
            write(g, path)
            run(path, out)
            checked += 1
            if ours(out) != expected(g):
                bad += 1
                print("DIFFERENT", kind, k, directed, ours(out), expected(g))
            # back: our GraphML, read by NetworkX
            back = os.path.join(folder, "back.graphml")
            run(out, back)
            h = nx.read_graphml(back)
            checked += 1
            names, labels, attributes, edges = ours(out)
            place = {v: i for i, v in enumerate(h)}
            got = {(place[u], place[v]): d.get("weight", 1) for u, v, d in h.edges(data=True)}
            if not directed:
                got = {tuple(sorted(e)): w for e, w in got.items()}
            if (list(h) != names or [h.nodes[v]["label"] for v in h] != labels
                    or [[h.nodes[v]["a1"]] for v in h] != attributes or got != edges):
                bad += 1
                print("DIFFERENT back", kind, k, directed)
for k in range(20):
    g = nx.gnp_random_graph(30, 0.1, seed=k)
    g.remove_nodes_from([v for v in list(g) if g.degree(v) == 0])
    for e in g.edges:
        g.edges[e]["weight"] = random.choice([1.0, 0.5, 2.25])
    path, out = os.path.join(folder, "g.edges"), os.path.join(folder, "g.jsonl")
    nx.write_weighted_edgelist(g, path)
    run(path, out)
    with open(out) as f:
        j = json.loads(f.read())
    place = {v: i for i, v in enumerate(sorted(g))}
    want = {tuple(sorted((place[u], place[v]))): d["weight"] for u, v, d in g.edges(data=True)}
    checked += 1
    if {(e[0], e[1]): (e + [1])[2] for e in j["edges"]} != want or j["nodes"] != len(g):
        bad += 1
        print("DIFFERENT edge list", k)
print(f"NetworkX {nx.__version__}: {checked} files exchanged, {bad} differ")
sys.exit(bad > 0)
