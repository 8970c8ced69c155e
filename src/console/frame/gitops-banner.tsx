import type { ReactElement } from "react";
import { useSession } from "../session.ts";

/** Says that configuration is changed in files. */
export function GitopsBanner(): ReactElement | null {
  const { gitops } = useSession();
  if (!gitops.gitops_mode_enabled) return null;
  return (
    <p className="message note">
      GitOps mode is on: configuration is changed in its repository
      {gitops.repository_url !== "" && (
        <>
          , <a href={gitops.repository_url}>{gitops.repository_url}</a>
        </>
      )}
      . Actions on hosts are not affected.
    </p>
  );
}
