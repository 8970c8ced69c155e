// Commands that download a file: resumable, and checked against the size and the digest that the server names.

import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import * as Flags from "@oclif/core/flags";
import { printable } from "../text/printable.ts";
import type { ClientCommand } from "./client-command.ts";
import { failed } from "./errors.ts";
import { fetchFrom, fetchRemote, type Open, openPartial, type Remote } from "./files/resumable.ts";
import { bar, sizeText, transferText } from "./output/size.ts";

export const downloadFlags = (name: string) => ({
  out: Flags.string({
    char: "o",
    summary: `File to write; - is stdout. Default: ${name}, in the current folder.`,
    helpValue: "FILE",
  }),
  force: Flags.boolean({ summary: "Overwrite a file that has other content." }),
});

/** `what` is the download's name in messages. */
export async function downloadFile(
  command: ClientCommand,
  ask: Open,
  what: string,
  { out, force }: { out?: string | undefined; force: boolean },
) {
  const remote = await fetchRemote(ask);
  const hash = remote.sha256 === null ? null : createHash("sha256");
  if (out === "-") {
    await fetchRest(command, ask, remote, 0, hash, (bytes) => command.io.outBytes(bytes));
    check(hash, remote, what);
    return;
  }
  const path = out ?? remote.name;
  const { file, at } = await openPartial(path, ask, remote, force);
  try {
    await hashStart(file, at, hash);
    if (at > 0 && at < remote.size) command.note(`continuing after ${sizeText(at)} of ${sizeText(remote.size)}`);
    await fetchRest(command, ask, remote, at, hash, async (bytes, position) => {
      for (let done = 0; done < bytes.length; )
        done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
    });
    await file.sync();
    const { size } = await file.stat();
    if (size !== remote.size) throw failed(`${path} has ${size} bytes, ${what} ${remote.size}`);
    check(hash, remote, what);
  } finally {
    await file.close();
  }
  const result = { file: path, size: remote.size, downloaded: remote.size - at };
  if (at > 0 && at === remote.size) return command.report(`${printable(path)} is already complete`, result);
  return command.report(`${sizeText(remote.size)} in ${printable(path)}`, result);
}

async function fetchRest(
  command: ClientCommand,
  ask: Open,
  remote: Remote,
  start: number,
  hash: Hash | null,
  take: Parameters<typeof fetchFrom>[3],
): Promise<void> {
  const { io } = command;
  const began = io.now().getTime();
  const progress = command.progress(`${bar(start, remote.size)}  ${sizeText(remote.size)}`);
  try {
    await fetchFrom(
      ask,
      remote,
      start,
      async (bytes, at) => {
        await take(bytes, at);
        hash?.update(bytes);
        progress.update(transferText(at + bytes.length, remote.size, start, io.now().getTime() - began));
      },
      { sleep: (ms) => io.sleep(ms, command.stop.signal), note: (message) => command.note(message) },
    );
  } finally {
    progress.done();
  }
}

/** Includes what the file contains already. */
async function hashStart(file: FileHandle, size: number, hash: Hash | null): Promise<void> {
  if (hash === null || size === 0) return;
  for await (const chunk of file.createReadStream({ start: 0, end: size - 1, autoClose: false }))
    hash.update(chunk as Buffer);
}

function check(hash: Hash | null, { sha256 }: Remote, what: string): void {
  const digest = hash?.digest("hex") ?? null;
  if (digest !== sha256)
    throw failed(`${what} has the SHA-256 digest ${digest} instead of ${sha256}`, "Download it again with --force.");
}
