// The organization's logo, as image files: one for dark backgrounds, and one for light ones.
import { createHash } from "node:crypto";
import { LOGO_MAX, type LogoMode, logoFormat } from "../../api/settings/logo.ts";
import { thing } from "../desired/values.ts";
import { fieldsOf } from "../export/fields.ts";
import { readBytes } from "../files/include.ts";
import type { Kind } from "./kind.ts";

const extensions = { "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp" } as const;

const logo = (mode: LogoMode): Kind => {
  const kind = `logo_${mode}`;
  const key = `org_logo_path_${mode}_mode`;
  return {
    noun: `logo for ${mode} backgrounds`,
    file: {
      section: "org_settings",
      keys: [["org_info"], [key]],
      extensions: [".png", ".jpg", ".jpeg", ".gif", ".webp"],
      async read(path, named, sources) {
        const content = await readBytes(path, named, sources);
        if (content === null) return null;
        if (content.length > LOGO_MAX) throw new Error(`the image is larger than ${LOGO_MAX} bytes`);
        if (logoFormat(content) === null) throw new Error("must be a PNG, JPEG, GIF or WebP image");
        const sha256 = createHash("sha256").update(content).digest("hex");
        sources.contents.set(sha256, content);
        return { sha256 };
      },
    },
    desired({ global }) {
      const logo = global?.named[kind];
      return logo ? [thing(kind, null, logo.value)] : [];
    },
    isComplete: (_, { global }) => global !== undefined,
    exported({ file, objects, addContent }) {
      const [logo] = file === "global" ? objects.all(null, kind) : [];
      if (!logo) return {};
      const content = objects.content(String(fieldsOf(logo.value).sha256));
      const format = logoFormat(content);
      const path = `lib/logo/${mode}${format === null ? ".png" : extensions[format]}`;
      addContent(path, content);
      return { settings: { org_info: { [key]: path } } };
    },
    typesOf: () => ["edited_config"],
    isAbout: () => true,
  };
};

export const darkLogo = logo("dark");
export const lightLogo = logo("light");
