import type { ReactElement } from "react";
import { type ConfigurationProfile, profilesApi } from "../../../../api/devices/profiles.ts";
import { client, request, useReadText } from "../../../api.ts";
import { notifyFailed } from "../../../frame/notices.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { isText } from "./is-text.ts";

/** The file of the profile, as it was uploaded. */
export function ProfileContent({ profile }: { readonly profile: ConfigurationProfile }): ReactElement {
  const input = { params: { profile_uuid: profile.profile_uuid }, query: { alt: "media" as const } };
  const reply = useReadText(profilesApi.get, input);
  const download = async () => {
    try {
      saveFile(await request(() => client.download(profilesApi.get, input)));
    } catch (error) {
      notifyFailed(error);
    }
  };
  return (
    <>
      <p>
        <button type="button" className="plain" onClick={() => void download()}>
          Download
        </button>
      </p>
      <Read from={reply} what="content">
        {(text) =>
          isText(text) ? (
            <ScrollingText text={text} />
          ) : (
            <p className="quiet">The file is signed or not a text. Download it to look at it.</p>
          )
        }
      </Read>
    </>
  );
}
