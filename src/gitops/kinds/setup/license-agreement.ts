// The license agreement that users see before their device enrolls.
import { EULA_MAX } from "../../../api/devices/eula.ts";
import { thing } from "../../desired/values.ts";
import { fieldsOf } from "../../export/fields.ts";
import { safeName } from "../../export/names.ts";
import { largeFileValue } from "../../files/large-values.ts";
import type { Kind } from "../kind.ts";

const KIND = "license_agreement";

export const licenseAgreement: Kind = {
  noun: "license agreement",
  file: {
    section: "org_settings",
    keys: [["mdm"], ["end_user_license_agreement"]],
    extensions: [".pdf"],
    read: (path, _named, sources) => largeFileValue(path, EULA_MAX, "eula.pdf", sources),
  },
  desired({ global }) {
    const { name, ...value } = global?.named[KIND]?.value ?? {};
    return name === undefined ? [] : [thing(KIND, null, value, String(name))];
  },
  isComplete: (_, { global }) => global !== undefined,
  exported({ file, objects, addDownload }) {
    const [agreement] = file === "global" ? objects.all(null, KIND) : [];
    if (!agreement) return {};
    const path = `lib/setup/${safeName(agreement.name, ".pdf")}`;
    addDownload(path, { of: KIND, sha256: String(fieldsOf(agreement.value).sha256) });
    return { settings: { mdm: { end_user_license_agreement: path } } };
  },
  typesOf: () => ["added_eula", "deleted_eula"],
  isAbout: () => true,
};
