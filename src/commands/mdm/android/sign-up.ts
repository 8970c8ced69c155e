import { androidApi } from "../../../api/devices/android.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { CliError, failed } from "../../../cli/errors.ts";
import { dryRunFlag } from "../../../cli/flags.ts";
import { durationMs } from "../../../cli/output/text.ts";
import { interrupted, timeoutOf, waitFlags } from "../../../cli/wait.ts";
import { readEvents, type ServerEvent } from "../../../client/events.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmAndroidSignUp extends ClientCommand {
  static override summary = "Turn device management of Android on.";
  static override description =
    "Prints the address of the vendor's page on which the organization signs up. The server needs a service account " +
    "for the Android Management API.";
  static override endpoints = [androidApi.signUp, androidApi.signUpEvents];
  static override flags = { ...waitFlags, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --wait --timeout 30m",
  ];

  async run() {
    const { flags } = await this.parse(MdmAndroidSignUp);
    if (flags["dry-run"]) this.trying("start the sign-up for device management of Android", {});
    const { android_enterprise_signup_url: url } = await this.call(androidApi.signUp);
    if (!flags.wait)
      return this.report(`open ${printable(url)} and sign up there`, { android_enterprise_signup_url: url });
    this.note(`open ${printable(url)} and sign up there`);
    const last = await this.#end(timeoutOf(flags));
    if (last.event === "error") throw failed(`the sign-up failed: ${printable(last.data)}`);
    await this.report(printable(last.data), { turned_on: true });
  }

  async #end(timeout: string): Promise<ServerEvent> {
    const over = AbortSignal.timeout(durationMs(timeout, "--timeout"));
    const hint = "See `svc mdm android status`.";
    try {
      return await this.#lastEvent(over);
    } catch (error) {
      if (over.aborted) throw new CliError("pending", `after ${timeout} the sign-up has not ended`, hint);
      throw this.stop.signal.aborted ? interrupted({ what: "the sign-up has not ended", hint }) : error;
    }
  }

  async #lastEvent(signal: AbortSignal): Promise<ServerEvent> {
    const client = await this.client();
    const { body } = await client.open(androidApi.signUpEvents, {}, { signal });
    for await (const event of readEvents(body)) if (event.data !== "") return event;
    throw failed("the server ended the connection before the sign-up had ended");
  }
}
