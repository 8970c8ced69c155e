import * as Flags from "@oclif/core/flags";
import { carvesApi } from "../../api/carves.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { failed } from "../../cli/errors.ts";
import { fetchFrom, look, type Open, openPartial, type Remote } from "../../cli/files/resumable.ts";
import { args, connectionFlags, generalFlags } from "../../cli/flags.ts";
import { bar, sizeText } from "../../cli/views/carve.ts";
import { printable } from "../../text/printable.ts";

export default class CarvesDownload extends ClientCommand {
  static override summary = "Download the archive of a carve: a tar file, or one compressed with Zstandard (.tar.zst).";
  static override description =
    "If the file exists and is the beginning of this archive, the download continues where it ends. Lost " +
    "connections are resumed. The paths in the archive are those of temporary copies on the host.";
  static override endpoints = [carvesApi.download];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override args = { id: args.required("id of the carve") };
  static override flags = {
    out: Flags.string({
      char: "o",
      summary: "File to write; - is stdout. Default: the carve's name, in the current folder.",
      helpValue: "FILE",
    }),
    force: Flags.boolean({ summary: "Overwrite a file that has other content." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 -o logs.tar",
    "<%= config.bin %> <%= command.id %> 1 -o -",
  ];

  async run() {
    const { args: given, flags } = await this.parse(CarvesDownload);
    await this.requireToken();
    const client = await this.client();
    const ask: Open = (headers, signal) =>
      client.open(carvesApi.download, { params: { id: given.id } }, { headers, signal });
    const remote = await look(ask);
    if (flags.out === "-") return this.toStdout(ask, remote);

    const path = flags.out ?? remote.name;
    const { file, at } = await openPartial(path, ask, remote, flags.force);
    try {
      if (at === remote.size)
        return await this.report(`${printable(path)} is already complete`, this.downloaded(path, remote, 0));
      if (at > 0) this.note(`continuing after ${sizeText(at)} of ${sizeText(remote.size)}`);
      await this.fetch(ask, remote, at, async (bytes, position) => {
        for (let done = 0; done < bytes.length; )
          done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
      });
      await file.sync();
      const { size } = await file.stat();
      if (size !== remote.size) throw failed(`${path} has ${size} bytes, the archive ${remote.size}`);
    } finally {
      await file.close();
    }
    await this.report(
      `${sizeText(remote.size)} in ${printable(path)}`,
      this.downloaded(path, remote, remote.size - at),
    );
  }

  private downloaded(path: string, { size }: Remote, downloaded: number) {
    return { file: path, size, downloaded };
  }

  private async toStdout(ask: Open, remote: Remote): Promise<void> {
    await this.fetch(ask, remote, 0, (bytes) => this.io.outBytes(bytes));
  }

  private async fetch(ask: Open, remote: Remote, start: number, take: Parameters<typeof fetchFrom>[3]): Promise<void> {
    const { io } = this;
    const began = io.now().getTime();
    const progress = this.progress(`${bar(start, remote.size)}  ${sizeText(remote.size)}`);
    try {
      await fetchFrom(
        ask,
        remote,
        start,
        async (bytes, at) => {
          await take(bytes, at);
          const done = at + bytes.length;
          const seconds = (io.now().getTime() - began) / 1000;
          const speed = seconds > 0 ? `  ${sizeText(Math.round((done - start) / seconds))}/s` : "";
          progress.update(`${bar(done, remote.size)}  ${sizeText(done)} of ${sizeText(remote.size)}${speed}`);
        },
        { sleep: (ms) => io.sleep(ms, this.stop.signal), note: (message) => this.note(message) },
      );
    } finally {
      progress.done();
    }
  }
}
