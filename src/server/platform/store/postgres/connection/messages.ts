// Messages to all servers, which Postgres delivers when their transaction commits.
import { list, sql, textOf } from "../sql.ts";
import type { Listening } from "./listen.ts";

const PAYLOAD_LIMIT = 7_000;

export interface Message {
  readonly channel: string;
  readonly sealed: string;
}

export function sealed(listening: Listening, channel: string, payload: string): Message {
  if (Buffer.byteLength(payload) > PAYLOAD_LIMIT) throw new Error(`a message can have at most ${PAYLOAD_LIMIT} bytes`);
  return { channel, sealed: listening.seal(payload) };
}

/** Postgres delivers the messages of a transaction when it commits. */
export function notifying(messages: readonly Message[]): string {
  const rows = messages.map(
    ({ channel, sealed }, place) => sql`(${sql.lit(place)}, ${sql.lit(channel)}, ${sql.lit(sealed)})`,
  );
  return textOf(
    sql`SELECT pg_notify(m.channel, m.payload) FROM (VALUES ${list(rows)}) AS m(place, channel, payload) ORDER BY m.place`,
  );
}
