// Who may do what, copied from part C's table of roles by hand: the server's own table is not asked.
// A admin, M maintainer, T technician, O observer, P observer_plus, G gitops; first globally, then on the team concerned.
import type { Role } from "../../src/api/access.ts";

const partC = {
  "view activity feed": ["AMTOP", ""],
  "list hosts, filter": ["AMTOP", "AMTOP"],
  "host by identifier": ["AMTOPG", "AMTOPG"],
  "add, delete hosts": ["AM", "AM"],
  "view software": ["AMTOP", "AMTOP"],
  "view, create, edit, delete users": ["A", "A"],
  "add, remove team users": ["AG", "AG"],
  "create, delete teams": ["AG", ""],
  "edit teams": ["AG", "AG"],
  "view teams": ["AMTOPG", "AMTOPG"],
  "read global enroll secrets": ["AM", ""],
  "write global enroll secrets": ["AMG", ""],
  "read team enroll secrets": ["AM", "AM"],
  "write team enroll secrets": ["AMG", "AM"],
  "read organization settings": ["AMTOPG", "AMTOPG"],
  "edit organization settings": ["AG", ""],
  "edit agent options": ["AG", "AG"],
  "sessions of others": ["A", ""],
} as const satisfies Record<string, readonly [string, string]>;

export type Row = keyof typeof partC;

/** `open`: no token. `self`: any signed-in user, about itself. */
export const rules: Record<string, Row | "open" | "self"> = {
  "GET /activities": "view activity feed",
  "GET /config": "read organization settings",
  "PATCH /config": "edit organization settings",
  "GET /config/certificate": "read organization settings",
  "GET /spec/enroll_secret": "read global enroll secrets",
  "POST /spec/enroll_secret": "write global enroll secrets",
  "GET /teams/:id/secrets": "read team enroll secrets",
  "PATCH /teams/:id/secrets": "write team enroll secrets",
  "GET /hosts": "list hosts, filter",
  "GET /hosts/count": "list hosts, filter",
  "GET /host_summary": "list hosts, filter",
  "GET /hosts/:id": "list hosts, filter",
  "GET /hosts/identifier/:identifier": "host by identifier",
  "DELETE /hosts/:id": "add, delete hosts",
  "POST /hosts/delete": "add, delete hosts",
  "POST /hosts/:id/refetch": "list hosts, filter",
  "GET /hosts/:id/software": "view software",
  "POST /login": "open",
  "POST /logout": "self",
  "GET /sessions/:id": "sessions of others",
  "DELETE /sessions/:id": "sessions of others",
  "GET /users/:id/sessions": "sessions of others",
  "DELETE /users/:id/sessions": "sessions of others",
  "POST /setup": "open",
  "GET /teams": "view teams",
  "GET /teams/:id": "view teams",
  "POST /teams": "create, delete teams",
  "PATCH /teams/:id": "edit teams",
  "DELETE /teams/:id": "create, delete teams",
  "GET /teams/:id/users": "view, create, edit, delete users",
  "PATCH /teams/:id/users": "add, remove team users",
  "DELETE /teams/:id/users": "add, remove team users",
  "POST /teams/:id/agent_options": "edit agent options",
  "GET /users": "view, create, edit, delete users",
  "POST /users/admin": "view, create, edit, delete users",
  "GET /users/:id": "view, create, edit, delete users",
  "GET /me": "self",
  "PATCH /users/:id": "view, create, edit, delete users",
  "DELETE /users/:id": "view, create, edit, delete users",
  "POST /users/:id/require_password_reset": "view, create, edit, delete users",
  "POST /change_password": "self",
  "POST /perform_required_password_reset": "self",
  "GET /version": "self",
};

const letters: Record<Role, string> = {
  admin: "A",
  maintainer: "M",
  technician: "T",
  observer: "O",
  observer_plus: "P",
  gitops: "G",
};

export const mayGlobally = (row: Row, role: Role): boolean => partC[row][0].includes(letters[role]);
export const mayOnTeam = (row: Row, role: Role): boolean => partC[row][1].includes(letters[role]);
