// What goes over `channels.outbox`: that a destination has rows to be sent from this id on.
const MOST_BYTES = 7_000;

export interface Wake {
  readonly destination: string;
  readonly id: number;
  /** The destination does not wait for its retry any longer. */
  readonly isUrgent?: boolean;
}

/** Empty where the destination is too long to be named: then the sender looks for itself. */
export function wakeMessage({ destination, id, isUrgent = false }: Wake): string {
  const text = JSON.stringify([id, isUrgent, destination]);
  return Buffer.byteLength(text) > MOST_BYTES ? "" : text;
}

export function readWake(payload: string): Wake | null {
  if (payload === "") return null;
  const [id, isUrgent, destination] = JSON.parse(payload) as [number, boolean, string];
  return { id, destination, isUrgent };
}
