// Messages on `channels.outbox`: a destination has pending rows, starting with this id.
const MOST_BYTES = 7_000;

interface Wake {
  readonly destination: string;
  readonly id: number;
  /** Skip the retry delay of the destination. */
  readonly isUrgent?: boolean;
}

/** Empty if the destination is too long for a notification; the sender then reads the store. */
export function wakeMessage({ destination, id, isUrgent = false }: Wake): string {
  const text = JSON.stringify([id, isUrgent, destination]);
  return Buffer.byteLength(text) > MOST_BYTES ? "" : text;
}

export function readWake(payload: string): Wake | null {
  if (payload === "") return null;
  const [id, isUrgent, destination] = JSON.parse(payload) as [number, boolean, string];
  return { id, destination, isUrgent };
}
