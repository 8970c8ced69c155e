// The tree of settings of a simulated Windows device, and what commands do to it.
import { statuses } from "../../syncml/codes.ts";
import { isContainer, type SyncCommand, syncCommand } from "../../syncml/value.ts";

export interface Node {
  readonly path: string;
  readonly data: string;
  readonly format: string | null;
}

/** By their paths in lower case. */
export type Nodes = ReadonlyMap<string, Node>;

/** The statuses of a command and of those inside of it, in their order, and the results of a Get. */
interface Done {
  readonly replies: readonly SyncCommand[];
  readonly nodes: Nodes;
  readonly isDone: boolean;
  /** Nodes that were executed. */
  readonly executed: readonly string[];
}

const keyOf = (path: string): string => path.toLowerCase();
const statusOf = ({ cmdId, verb }: SyncCommand, data: string, target?: string): SyncCommand =>
  syncCommand("Status", "", { cmdRef: cmdId, cmd: verb, data, items: target === undefined ? [] : [{ target }] });

/** `fails`: the command, or in a container the first one inside of it, fails as if the device had a problem. */
export function perform(command: SyncCommand, nodes: Nodes, fails = false): Done {
  if (command.verb === "Atomic") return performAtomic(command, nodes, fails);
  if (isContainer(command)) return performAll(command, nodes, fails);
  if (fails) return { replies: [statusOf(command, "500")], nodes, isDone: false, executed: [] };
  const changed = new Map(nodes);
  const executed: string[] = [];
  const results: SyncCommand[] = [];
  let status: string = statuses.ok;
  for (const { target, data, format } of command.items) {
    const path = target ?? "";
    const node = changed.get(keyOf(path));
    const value = { path, data: data ?? "", format: format ?? command.format };
    if (command.verb === "Add" && node) status = statuses.exists;
    else if (command.verb === "Add" || command.verb === "Replace") changed.set(keyOf(path), value);
    else if (command.verb === "Delete") status = remove(changed, path) ? status : statuses.notFound;
    else if (command.verb === "Exec") executed.push(path);
    else if (command.verb === "Get" && node) results.push(resultOf(command, node));
    else status = command.verb === "Get" ? statuses.notFound : "406";
  }
  const isDone = status === statuses.ok;
  return {
    replies: [statusOf(command, status), ...results],
    nodes: isDone ? changed : nodes,
    isDone,
    executed: isDone ? executed : [],
  };
}

const resultOf = ({ cmdId }: SyncCommand, { path, data, format }: Node): SyncCommand =>
  syncCommand("Results", "", { cmdRef: cmdId, items: [{ source: path, data, format }] });

/** Removes the node with all below it. */
function remove(nodes: Map<string, Node>, path: string): boolean {
  const key = keyOf(path);
  const gone = [...nodes.keys()].filter((nodeKey) => nodeKey === key || nodeKey.startsWith(`${key}/`));
  for (const nodeKey of gone) nodes.delete(nodeKey);
  return gone.length > 0;
}

/** Performs all of an Atomic or nothing: what was done before a failure is undone. */
function performAtomic(command: SyncCommand, before: Nodes, fails: boolean): Done {
  let nodes = before;
  const done: Done[] = [];
  for (const [i, child] of command.commands.entries()) {
    const outcome = perform(child, nodes, fails && i === 0);
    done.push(outcome);
    if (!outcome.isDone) break;
    nodes = outcome.nodes;
  }
  const isDone = done.every((outcome) => outcome.isDone);
  const inner = command.commands.flatMap((child, i) => {
    const outcome = done[i];
    if (outcome === undefined) return [statusOf(child, "215")];
    return isDone || !outcome.isDone ? outcome.replies : [statusOf(child, "216")];
  });
  return {
    replies: [statusOf(command, isDone ? statuses.ok : statuses.atomicFailed), ...inner],
    nodes: isDone ? nodes : before,
    isDone,
    executed: isDone ? done.flatMap(({ executed }) => executed) : [],
  };
}

function performAll(command: SyncCommand, before: Nodes, fails: boolean): Done {
  let nodes = before;
  const done = command.commands.map((child, i) => {
    const outcome = perform(child, nodes, fails && i === 0);
    nodes = outcome.nodes;
    return outcome;
  });
  return {
    replies: [statusOf(command, statuses.ok), ...done.flatMap(({ replies }) => replies)],
    nodes,
    isDone: done.every((outcome) => outcome.isDone),
    executed: done.flatMap(({ executed }) => executed),
  };
}
