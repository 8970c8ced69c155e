import * as Flags from "@oclif/core/flags";
import { appleTrustApi, UploadedCertificate } from "../../../api/devices/apple-trust.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";
import { plural } from "../../../text/plural.ts";

export default class MdmAppleCertificate extends ClientCommand {
  static override summary = "Upload the push certificate, which turns device management of Apple devices on.";
  static override description =
    "The certificate must be for the newest request (`svc mdm apple csr`), or come with its own key. It must have the topic with which devices are enrolled.";
  static override endpoints = [appleTrustApi.upload];
  static override args = { file: args.required("PEM file with the certificate; - is stdin") };
  static override flags = {
    "private-key": Flags.string({
      summary: "PEM file with the certificate's private key, if it was not requested from this server.",
      helpValue: "FILE",
    }),
    force: Flags.boolean({ summary: "Accept another topic. Enrolled devices must then enroll again." }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> push.pem",
    "<%= config.bin %> <%= command.id %> own.pem --private-key own-key.pem",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmAppleCertificate);
    const key = flags["private-key"];
    const certificate = await uploadSource(this.io, args.file, "FILE");
    const privateKey = key === undefined ? undefined : await uploadSource(this.io, key, "--private-key");
    if (flags["dry-run"]) this.trying("upload the push certificate", { file: args.file });
    const uploaded = await this.call(appleTrustApi.upload, {
      body: {
        certificate,
        ...(privateKey === undefined ? {} : { private_key: privateKey }),
        force: flags.force ? "true" : "false",
      },
    });
    const { topic, renew_date: end, devices_to_enroll_again: again } = uploaded;
    if (again > 0) this.note(`${plural(again, "device")} must enroll again, because the topic is another one now`);
    await this.report(`uploaded the push certificate for ${topic}; it ends on ${end.slice(0, 10)}`, uploaded, {
      schema: () => UploadedCertificate,
    });
  }
}
