/** What each topic is about; `svc help` shows it. */
export const topics: Record<string, { description: string }> = {
  activities: { description: "What was done, and by whom." },
  agent: { description: "Agents: their flag file, and simulated ones." },
  config: { description: "The server's configuration." },
  context: { description: "Saved servers and sign-ins of this command line." },
  db: { description: "The server's store: migrate, check, copy, back up." },
  "enroll-secrets": { description: "Secrets with which agents enroll." },
  hosts: { description: "Computers and devices." },
  sessions: { description: "Sign-ins of users." },
  teams: { description: "Teams of hosts and users." },
  "teams:agent-options": { description: "What a team's agents are told." },
  "teams:users": { description: "Who belongs to a team, in which role." },
  users: { description: "People and programs that may sign in." },
};
