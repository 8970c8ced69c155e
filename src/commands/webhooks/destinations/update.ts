import * as Flags from "@oclif/core/flags";
import { Destination, webhooksApi } from "../../../api/webhooks.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readBody, readSecret, secretFlags } from "../../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../../cli/flags.ts";

export default class WebhooksDestinationsUpdate extends ClientCommand {
  static override summary = "Change the headers, or the signing secret, of requests to a URL.";
  static override description =
    "The given headers replace the current ones. A new secret is printed only once: configure it in the receiver, which refuses requests until then.";
  static override endpoints = [webhooksApi.modifyDestination];
  static override args = { url: args.required("URL of the destination, as it is configured") };
  static override flags = {
    ...secretFlags("headers", "the headers, one NAME: VALUE per line,"),
    "no-headers": Flags.boolean({ summary: "Remove all headers.", exclusive: ["headers-stdin", "headers-file"] }),
    "rotate-secret": Flags.boolean({ summary: "Create a new signing secret." }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> https://hooks.example.com/svc --rotate-secret",
    "<%= config.bin %> <%= command.id %> https://hooks.example.com/svc --headers-file headers.txt",
  ];

  async run() {
    const { args: given, flags } = await this.parse(WebhooksDestinationsUpdate);
    const text = await readSecret(this.io, flags, "headers");
    const headers = flags["no-headers"] ? {} : text === undefined ? undefined : readHeaders(text);
    const input = await readBody(this.io, flags.input);
    if (headers === undefined && !flags["rotate-secret"] && Object.keys(input).length === 0)
      throw usage("nothing to change", "Give --headers-file, --no-headers, --rotate-secret or --input.");
    const body = {
      ...input,
      url: given.url,
      ...(headers === undefined ? {} : { headers }),
      ...(flags["rotate-secret"] ? { rotate_secret: true } : {}),
    };
    if (flags["dry-run"]) {
      this.validate(webhooksApi.modifyDestination, body);
      const changes = [
        ...(headers === undefined ? [] : [`headers ${Object.keys(headers).join(", ") || "none"}`]),
        ...(flags["rotate-secret"] ? ["a new secret"] : []),
      ];
      this.trying(`change ${given.url}: ${changes.join("; ")}`, { url: given.url });
    }
    const { destination } = await this.call(webhooksApi.modifyDestination, { body });
    await this.report(`changed requests to ${destination.url}`, destination, { schema: Destination });
    if (!this.structured && destination.signing_secret.startsWith("whsec_")) {
      this.note("the signing secret, shown only now:");
      this.log(destination.signing_secret);
    }
  }
}

function readHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === "") continue;
    const at = line.indexOf(":");
    if (at < 1) throw usage("headers: each line must be NAME: VALUE");
    headers[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return headers;
}
