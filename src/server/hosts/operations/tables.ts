import { id, int, packed, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly operations: typeof operations;
    readonly operationContents: typeof operationContents;
  }
}

/** Contents of operations, each stored once however many hosts get it. */
export const operationContents = table("operation_contents", {
  id: id(),
  /** SHA-256 of the content, hexadecimal; of a file with a prefix, because it is sent in another way than a text. */
  digest: text().unique(),
  /** Empty if the content is a file. */
  content: packed<string>(),
  /** A content that is too large for a row. */
  file_id: ref("files").nullable().onDelete("restrict"),
  /** When an operation with this content was last requested, to some hours. */
  used_at: time().index(),
});

/** What is asked of a host and lasts until the host has answered. */
export const operations = table(
  "operations",
  {
    id: id(),
    created_at: time().index(),
    /** The id by which hosts and the API name it. */
    uuid: text().unique(),
    host_id: ref("hosts"),
    kind: text().index(),
    /** The queue of the host that it is in (`Lane`). */
    lane: text().default("host"),
    /** The operation of a host with the lowest number comes first, then the oldest. */
    priority: int(),
    /** The requester; null: the server itself, or a deleted user. */
    user_id: ref("users").nullable(),
    content_id: ref("operation_contents").nullable().onDelete("restrict"),
    /** Seconds that the host has for it. */
    timeout: int(),
    state: text<"queued" | "sent" | "answered" | "failed" | "cancelled" | "expired">().default("queued").index(),
    /** How often it was sent. */
    attempts: int().default(0),
    sent_at: time().nullable(),
    /** Sent and not answered by this time: it is sent again, or it expires. */
    due_at: time().nullable().index(),
    ended_at: time().nullable().index(),
    /** What the host answered; its kind knows the shape. */
    result: packed<OperationResult>().nullable(),
  },
  { indexes: [["host_id", "state"]] },
);

/** What a host answered, in the shape of the operation's kind. */
export type OperationResult = object;

/** The answer of an agent that ran a script. */
export interface ScriptResult {
  /** -1: timed out or killed, -2: scripts are disabled. */
  readonly exit_code: number;
  readonly output: string;
  /** Seconds. */
  readonly runtime: number;
}
