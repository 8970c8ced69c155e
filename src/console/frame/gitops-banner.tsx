import type { ReactElement } from "react";
import type { ConsoleSession } from "../../api/console.ts";
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
      . {exceptionsText(gitops.exceptions)}Actions on hosts are not affected.
    </p>
  );
}

const names = { labels: "Labels", software: "Software", secrets: "Enroll secrets" } as const;

/** What may be changed here nevertheless. */
function exceptionsText(exceptions: ConsoleSession["gitops"]["exceptions"]): string {
  const excepted = Object.entries(names).flatMap(([key, name]) =>
    exceptions[key as keyof typeof names] ? [name] : [],
  );
  if (excepted.length === 0) return "";
  const listed = excepted.map((name, at) => (at === 0 ? name : name.toLowerCase())).join(", ");
  return `${listed} may be changed here. `;
}
