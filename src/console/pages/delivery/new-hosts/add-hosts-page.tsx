import { type ReactElement, useState } from "react";
import type { EnrollToken } from "../../../../api/delivery/new-hosts.ts";
import { Page } from "../../../frame/page.tsx";
import { maySomewhere } from "../../../session.ts";
import { AppleProfile } from "./apple-profile.tsx";
import { EnrollCommands } from "./enroll-commands.tsx";
import { NewHosts } from "./new-hosts.tsx";
import { TokenForm } from "./token-form.tsx";

const breadcrumb = [{ name: "Hosts", href: "/hosts" }];

/** How computers and devices become hosts, and the hosts that have enrolled since the page was opened. */
export default function AddHostsPage(): ReactElement {
  const [token, setToken] = useState<EnrollToken | null>(null);
  if (!maySomewhere("enroll_secrets:read"))
    return (
      <Page title="Add hosts" breadcrumb={breadcrumb}>
        <p>
          Your role does not allow it: adding hosts needs the action <code>enroll_secrets:read</code>, which
          administrators and maintainers have.
        </p>
      </Page>
    );
  return (
    <Page title="Add hosts" breadcrumb={breadcrumb}>
      <section className="card" aria-labelledby="install">
        <h2 id="install">Computers</h2>
        <p>
          A command installs the agent on a computer with Linux, macOS or Windows and enrolls it. The computer needs{" "}
          <a href="https://nodejs.org">Node.js</a> 20.19 or newer.
        </p>
        <TokenForm onToken={setToken} />
        {token !== null && <EnrollCommands token={token} />}
      </section>
      <AppleProfile />
      <NewHosts />
    </Page>
  );
}
