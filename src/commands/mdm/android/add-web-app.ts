import * as Flags from "@oclif/core/flags";
import { androidApi } from "../../../api/devices/android.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { dryRunFlag } from "../../../cli/flags.ts";
import { showUpload } from "../../../cli/upload-progress.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmAndroidAddWebApp extends ClientCommand {
  static override summary = "Create an Android app that opens a website.";
  static override description =
    "The vendor makes the app for the organization. Name its id as packageName in the applications of a profile for Android: " +
    "hosts with the profile get the app.";
  static override endpoints = [androidApi.addWebApp];
  static override flags = {
    title: Flags.string({ required: true, summary: "Name of the app on devices.", helpValue: "TITLE" }),
    url: Flags.string({ required: true, summary: "Address of the website.", helpValue: "URL" }),
    icon: Flags.string({ required: true, summary: "Square PNG image of at least 512 pixels.", helpValue: "FILE" }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --title Intranet --url https://intranet.example.com --icon intranet.png",
  ];

  async run() {
    const { flags } = await this.parse(MdmAndroidAddWebApp);
    const icon = await uploadSource(this.io, flags.icon, "--icon");
    const { title, url } = flags;
    if (flags["dry-run"]) this.trying(`create the app ${printable(title)} for ${printable(url)}`, { title, url });
    const body = { title, url, icon };
    const app = await showUpload(this, icon, (onSent) => this.call(androidApi.addWebApp, { body }, { onSent }));
    await this.report(`created the app ${printable(title)}: ${printable(app.app_store_id)}`, app);
  }
}
