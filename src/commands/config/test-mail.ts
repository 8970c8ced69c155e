import * as Flags from "@oclif/core/flags";
import { mailApi, type TestMail } from "../../api/settings/mail.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody, readSecret, secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";

export default class ConfigTestMail extends ClientCommand {
  static override summary = "Send a mail to see whether outgoing mail works.";
  static override description =
    "Uses the stored settings, even if mail is turned off; or, with `smtp_settings` in --input, those settings, without storing " +
    "them. The stored password is used if server and port are the stored ones.";
  static override endpoints = [mailApi.testMail];
  static override flags = {
    to: Flags.string({ summary: "Address to send to. Default: your own.", helpValue: "EMAIL" }),
    ...secretFlags("password", "the password for the settings in --input"),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --to observer@example.com",
  ];

  async run() {
    const { flags } = await this.parse(ConfigTestMail);
    const body = (await readBody(this.io, flags.input)) as TestMail;
    if (flags.to !== undefined) body.to = flags.to;
    const password = await readSecret(this.io, flags, "password");
    if (password !== undefined) body.smtp_settings = { ...body.smtp_settings, password };
    if (flags["dry-run"]) {
      this.trying(`send a mail to ${body.to ?? "yourself"}`, null);
    }
    const reply = await this.call(mailApi.testMail, { body });
    await this.report(`the mail server accepted a mail to ${reply.sent_to}`, reply);
  }
}
