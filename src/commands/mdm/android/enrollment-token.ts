import * as Flags from "@oclif/core/flags";
import { AndroidEnrollment, androidApi } from "../../../api/devices/android.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readSecret, secretFlags } from "../../../cli/files/input.ts";
import { saveBytes } from "../../../cli/files/whole-file.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmAndroidEnrollmentToken extends ClientCommand {
  static override summary = "Get a token with which Android devices enroll within an hour.";
  static override description =
    "A terminal shows it as a QR code, which a new device scans after six taps on its first screen. The address is for " +
    "devices that are in use: they get a work profile.";
  static override endpoints = [androidApi.enrollmentToken];
  static override flags = {
    ...secretFlags("enroll-secret", "an enroll secret, which decides the team"),
    "fully-managed": Flags.boolean({ summary: "For devices of the organization, without a work profile." }),
    svg: Flags.string({ summary: "File to write the QR code to, as an image.", helpValue: "FILE" }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --enroll-secret-file secret.txt --fully-managed",
    "<%= config.bin %> <%= command.id %> --enroll-secret-file secret.txt --svg code.svg",
  ];

  async run() {
    const { flags } = await this.parse(MdmAndroidEnrollmentToken);
    const secret = (await readSecret(this.io, flags, "enroll-secret"))?.trim();
    if (!secret)
      throw usage("no enroll secret is given", "Give it with --enroll-secret-file or --enroll-secret-stdin.");
    const enrollment = await this.call(androidApi.enrollmentToken, {
      query: { enroll_secret: secret, fully_managed: flags["fully-managed"] ? "true" : "false" },
    });
    const { android_enrollment_qrcode: code } = enrollment;
    const { renderSVG, renderUnicodeCompact } = await import("uqr");
    if (flags.svg !== undefined) {
      await saveBytes(this.io, flags.svg, new Blob([renderSVG(code, { border: 4 })]).stream());
      return this.report(`the QR code is in ${printable(flags.svg)}`, enrollment);
    }
    if (this.io.tty.stdout && this.format === "table" && code !== "") this.io.out(`${renderUnicodeCompact(code)}\n\n`);
    await this.printOne(enrollment, { schema: () => AndroidEnrollment });
  }
}
