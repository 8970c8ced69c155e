// Files of profiles: SyncML, as the commands that set nodes.
import { readCommands } from "../../../../syncml/read.ts";
import { BadSyncml, everyCommand, isContainer, type SyncCommand, syncCommand } from "../../../../syncml/value.ts";
import { textOfUtf8 } from "../../../../text/utf8.ts";
import { invalid } from "../../../platform/core/errors.ts";
import type { ProfileFile, ReadProfile } from "../../profiles/platform.ts";
import { isLate, namesIn } from "../../profiles/variables.ts";
import { plainNode } from "../commands/node-names.ts";

const FIELD = "profile";
const VERBS: readonly string[] = ["Add", "Replace", "Exec"];

const refusedNodes: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/\/bitlocker(\/|$)/, "turn on disk encryption in the settings of the team instead"],
  [/\/policy\/config\/update(\/|$)/, "set the deadlines of updates in the settings of the team instead"],
  [/\/remotewipe(\/|$)/, "devices are wiped by POST /hosts/:id/wipe"],
  [/\/dmclient(\/|$)/, "it would take the device out of the server's hands"],
];

/** What profiles may execute; anything else would happen again at each installation. */
const SCEP_ENROLL = /\/clientcertificateinstall\/scep\/[^/]+\/install\/enroll$/;

/** Null: the file is not one of this platform. */
export function readProfile({ bytes, name }: ProfileFile): ReadProfile | null {
  const text = textOfUtf8(bytes);
  if (text === null || !/^\uFEFF?\s*</.test(text) || /<(!DOCTYPE )?plist\b/.test(text.slice(0, 1_000))) return null;
  if (/^\uFEFF?\s*<\?xml/.test(text))
    throw invalid(FIELD, "the profile begins with an XML declaration, which it cannot have: remove its first line");
  if (name === null || name.trim() === "")
    throw invalid("display_name", "a profile for Windows needs a name: display_name is required");
  check(commandsIn(text));
  return { letter: "w", kind: "profile", name: name.trim(), identifier: name.trim() };
}

function commandsIn(text: string): readonly SyncCommand[] {
  try {
    return readCommands(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw error instanceof BadSyncml ? invalid(FIELD, error.message) : error;
  }
}

function check(commands: readonly SyncCommand[]): void {
  if (commands.length === 0) throw invalid(FIELD, "the profile has no commands");
  if (commands.some(isContainer) && commands.length > 1)
    throw invalid(FIELD, "an Atomic has to be the only command of the profile");
  const [first] = commands;
  if (isContainer(first!) && (first!.verb !== "Atomic" || first!.commands.length === 0))
    throw invalid(FIELD, first!.verb === "Atomic" ? "the Atomic has no commands" : "a profile cannot have a Sequence");
  const verbs = new Map<string, string>();
  for (const command of isContainer(first!) ? first!.commands : commands) {
    const { verb, items } = command;
    if (!VERBS.includes(verb))
      throw invalid(FIELD, `a profile cannot have the command ${verb}, only ${VERBS.join(", ")}`);
    if (items.length === 0) throw invalid(FIELD, `the ${verb} has no Item`);
    for (const { target } of items) {
      if (!target) throw invalid(FIELD, `the ${verb} has an Item without the LocURI of a Target`);
      if (namesIn(target).some(isLate))
        throw invalid(
          FIELD,
          `the node ${target} cannot contain a secret: its name is checked before secrets are filled in`,
        );
      const node = plainNode(target, FIELD);
      const refused = refusedNodes.find(([pattern]) => pattern.test(node));
      if (refused) throw invalid(FIELD, `the node ${target} cannot be set by profiles: ${refused[1]}`);
      if (verb === "Exec" && !SCEP_ENROLL.test(node))
        throw invalid(
          FIELD,
          `the node ${target} cannot be executed by profiles, only .../ClientCertificateInstall/SCEP/<id>/Install/Enroll`,
        );
      const before = verbs.get(node);
      if (before !== undefined && before !== verb)
        throw invalid(FIELD, `the node ${target} has both a command ${before} and a command ${verb}`);
      verbs.set(node, verb);
    }
  }
}

/** What installs the profile: all of it, or nothing. */
export function installing(content: Uint8Array): SyncCommand {
  const commands = commandsIn(Buffer.from(content).toString());
  const [first] = commands;
  return first && isContainer(first) ? first : syncCommand("Atomic", "", { commands });
}

/** The nodes that the command sets. What is executed sets none. */
export const nodesIn = (command: SyncCommand): string[] => [
  ...new Set(
    [...everyCommand([command])].flatMap(({ verb, items }) =>
      verb === "Exec" ? [] : items.flatMap(({ target }) => target ?? []),
    ),
  ),
];

/** A node's key in comparisons: the case of nodes may differ. */
export const sameNode = (node: string): string => node.toLowerCase();

/** Each on its own, because what is not there would undo an Atomic. The last ones first: they may be inside of others. */
export const removing = (nodes: readonly string[]): SyncCommand =>
  syncCommand("Sequence", "", {
    commands: nodes.toReversed().map((target) => syncCommand("Delete", "", { items: [{ target }] })),
  });
