import * as Flags from "@oclif/core/flags";
import { Destination, webhooksApi } from "../../../api/automations/webhooks.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { notFound, usage } from "../../../cli/errors.ts";
import { readBody, readSecret, secretFlags } from "../../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../../cli/flags.ts";
import { configuredUrls } from "../../../cli/topics/webhooks/urls.ts";
import { nearest } from "../../../text/nearest.ts";
import { printable } from "../../../text/printable.ts";

export default class WebhooksDestinationsUpdate extends ClientCommand {
  static override summary = "Change the headers, or the signing secret, of requests to a URL.";
  static override description =
    "The given headers replace the current ones. A new secret is printed only once: configure it in the receiver, which refuses requests until then. " +
    "The URL must be one that webhooks are sent to, or that settings contain; --new prepares another one.";
  static override endpoints = [webhooksApi.modifyDestination];
  static override args = { url: args.required("URL of the destination, as it is configured") };
  static override flags = {
    ...secretFlags("headers", "the headers, one NAME: VALUE per line,"),
    "no-headers": Flags.boolean({ summary: "Remove all headers.", exclusive: ["headers-stdin", "headers-file"] }),
    "rotate-secret": Flags.boolean({ summary: "Create a new signing secret." }),
    new: Flags.boolean({ summary: "Prepare a URL that no setting contains yet, before a webhook is sent to it." }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> https://hooks.example.com/svc --rotate-secret",
    "<%= config.bin %> <%= command.id %> https://hooks.example.com/svc --headers-file headers.txt",
    "<%= config.bin %> <%= command.id %> https://hooks.example.com/next --rotate-secret --new",
  ];

  async run() {
    const { args, flags } = await this.parse(WebhooksDestinationsUpdate);
    const text = await readSecret(this.io, flags, "headers");
    const headers = flags["no-headers"] ? {} : text === undefined ? undefined : readHeaders(text);
    const input = await readBody(this.io, flags.input);
    if (headers === undefined && !flags["rotate-secret"] && Object.keys(input).length === 0)
      throw usage("nothing to change", "Give --headers-file, --no-headers, --rotate-secret or --input.");
    const body = {
      ...input,
      url: args.url,
      ...(headers === undefined ? {} : { headers }),
      ...(flags["rotate-secret"] ? { rotate_secret: true } : {}),
    };
    if (!flags.new) await this.#requireKnown(args.url);
    if (flags["dry-run"]) {
      this.validate(webhooksApi.modifyDestination, body);
      const changes = [
        ...(headers === undefined ? [] : [`headers ${Object.keys(headers).join(", ") || "none"}`]),
        ...(flags["rotate-secret"] ? ["a new secret"] : []),
      ];
      this.trying(`change ${args.url}: ${changes.join("; ")}`, { url: args.url });
    }
    const { destination } = await this.call(webhooksApi.modifyDestination, { body });
    await this.report(`changed requests to ${destination.url}`, destination, { schema: () => Destination });
    if (!this.structured && destination.signing_secret.startsWith("whsec_")) {
      this.note("the signing secret, shown only now:");
      this.log(destination.signing_secret);
    }
  }

  /** The endpoint creates destinations, so that they can be prepared: a misspelled URL would get a secret of its own. */
  async #requireKnown(url: string): Promise<void> {
    const used = (await this.client()).pages(webhooksApi.destinations, {}, "destinations", Number.POSITIVE_INFINITY);
    const urls = await configuredUrls({ call: (endpoint, input) => this.call(endpoint, input) });
    for await (const { rows } of used) for (const row of rows) urls.add(row.url);
    if (urls.has(url)) return;
    const near = nearest(url, urls);
    throw notFound(
      `no webhook is sent to ${printable(url)}${near === undefined ? "" : `; did you mean ${printable(near)}?`}`,
      "`svc webhooks destinations list` shows the URLs in use. To prepare a URL before it is configured, add --new.",
    );
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
