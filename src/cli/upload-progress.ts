// Commands that send large files show how much was sent.

import type { UploadSource } from "../api/bodies.ts";
import { printable } from "../text/printable.ts";
import type { ClientCommand } from "./client-command.ts";
import { sizeText, transferText } from "./output/size.ts";

/** `send` gets a function to call with the number of bytes sent so far. */
export async function showUpload<T>(
  command: ClientCommand,
  { name, size }: UploadSource,
  send: (onSent: (sent: number) => void) => Promise<T>,
): Promise<T> {
  const progress = command.progress(`reading ${printable(name) || "stdin"} ...`);
  let began: { readonly at: number; readonly sent: number } | null = null;
  const onSent = (sent: number) => {
    const now = command.io.now().getTime();
    began ??= { at: now, sent };
    progress.update(size === null ? sizeText(sent) : transferText(sent, size, began.sent, now - began.at));
  };
  return send(onSent).finally(progress.done);
}
