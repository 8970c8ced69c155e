// The messages of OMA DM 1.2 (SyncML representation protocol), as far as Windows devices and their servers use them.

export const requestVerbs = ["Add", "Replace", "Delete", "Exec", "Get", "Copy"] as const;
export const containerVerbs = ["Atomic", "Sequence"] as const;
export const replyVerbs = ["Status", "Results"] as const;

export type RequestVerb = (typeof requestVerbs)[number];
export type ContainerVerb = (typeof containerVerbs)[number];
export type SyncVerb = RequestVerb | ContainerVerb | (typeof replyVerbs)[number] | "Alert";

/** One node that a command is about. Absent elements are null. */
export interface SyncItem {
  readonly target: string | null;
  readonly source: string | null;
  readonly format: string | null;
  readonly type: string | null;
  readonly data: string | null;
}

/** What the other side needs to authenticate with its next message. */
export interface Challenge {
  readonly format: string;
  readonly type: string;
  /** Base64. */
  readonly nextNonce: string;
}

/** A command of any verb. Members that its verb does not have are null or empty. */
export interface SyncCommand {
  readonly verb: SyncVerb;
  readonly cmdId: string;
  /** In replies: the message and the command that they are about, and its verb. */
  readonly msgRef: string | null;
  readonly cmdRef: string | null;
  readonly cmd: string | null;
  /** A status or an alert: its code. */
  readonly data: string | null;
  readonly challenge: Challenge | null;
  /** Format of all items that have none of their own. */
  readonly format: string | null;
  readonly type: string | null;
  readonly items: readonly SyncItem[];
  /** Commands in a container, in their order. */
  readonly commands: readonly SyncCommand[];
}

export interface Credentials {
  readonly format: string;
  readonly type: string;
  readonly data: string;
}

export interface SyncHeader {
  readonly sessionId: string;
  readonly msgId: string;
  readonly target: string;
  readonly source: string;
  readonly credentials: Credentials | null;
  /** The largest message that the sender accepts, in bytes. */
  readonly maxMsgSize: number | null;
}

export interface SyncMessage {
  readonly header: SyncHeader;
  readonly commands: readonly SyncCommand[];
  /** Whether the package ends with this message. */
  readonly isFinal: boolean;
}

/** The bytes are not a message. The reason can be shown to users. */
export class BadSyncml extends Error {}

const emptyItem: SyncItem = { target: null, source: null, format: null, type: null, data: null };
export const syncItem = (input: Partial<SyncItem>): SyncItem => ({ ...emptyItem, ...input });

const emptyCommand: Omit<SyncCommand, "verb" | "cmdId"> = {
  msgRef: null,
  cmdRef: null,
  cmd: null,
  data: null,
  challenge: null,
  format: null,
  type: null,
  items: [],
  commands: [],
};

type CommandInput = Partial<Omit<SyncCommand, "verb" | "cmdId" | "items">> & {
  readonly items?: readonly Partial<SyncItem>[];
};

export const syncCommand = (
  verb: SyncVerb,
  cmdId: string,
  { items = [], ...input }: CommandInput = {},
): SyncCommand => ({
  ...emptyCommand,
  ...input,
  verb,
  cmdId,
  items: items.map(syncItem),
});

const containers: ReadonlySet<string> = new Set(containerVerbs);
const requests: ReadonlySet<string> = new Set(requestVerbs);
export const isContainer = ({ verb }: Pick<SyncCommand, "verb">): boolean => containers.has(verb);
export const isRequest = ({ verb }: Pick<SyncCommand, "verb">): boolean => requests.has(verb);

/** The commands and, before the next one, all that they contain. */
export function* everyCommand(commands: readonly SyncCommand[]): Generator<SyncCommand> {
  for (const command of commands) {
    yield command;
    yield* everyCommand(command.commands);
  }
}
