// Source packages of binary packages, for hosts whose agent does not report them.
const sources: Readonly<Record<string, string>> = {
  apache2: "apache2",
  "bind9-dnsutils": "bind9",
  "bind9-host": "bind9",
  bsdutils: "util-linux",
  dnsutils: "bind9",
  fdisk: "util-linux",
  gpg: "gnupg2",
  gpgv: "gnupg2",
  gnupg: "gnupg2",
  libblkid1: "util-linux",
  libbz2: "bzip2",
  libc6: "glibc",
  "libc-bin": "glibc",
  libcap2: "libcap2",
  libcurl4: "curl",
  "libcurl3-gnutls": "curl",
  libexpat1: "expat",
  libfreetype6: "freetype",
  "libglib2.0-0": "glib2.0",
  libgnutls30: "gnutls28",
  "libgssapi-krb5-2": "krb5",
  "libkrb5-3": "krb5",
  "libldap-2.5-0": "openldap",
  liblzma5: "xz-utils",
  libmount1: "util-linux",
  libncurses6: "ncurses",
  libncursesw6: "ncurses",
  libnss3: "nss",
  libpam0g: "pam",
  libpcre3: "pcre3",
  "libpcre2-8-0": "pcre2",
  libpq5: "postgresql-15",
  "libpython3.11": "python3.11",
  "libpython3.11-stdlib": "python3.11",
  "libpython3.11-minimal": "python3.11",
  "libsqlite3-0": "sqlite3",
  libssl3: "openssl",
  "libssl1.1": "openssl",
  libssl3t64: "openssl",
  libsystemd0: "systemd",
  libtiff6: "tiff",
  libtiff5: "tiff",
  libtinfo6: "ncurses",
  libudev1: "systemd",
  libuuid1: "util-linux",
  libwebp7: "libwebp",
  libwebp6: "libwebp",
  libx11: "libx11",
  "libx11-6": "libx11",
  libxml2: "libxml2",
  locales: "glibc",
  login: "shadow",
  mount: "util-linux",
  "openssh-client": "openssh",
  "openssh-server": "openssh",
  "openssh-sftp-server": "openssh",
  passwd: "shadow",
  "perl-base": "perl",
  "perl-modules-5.36": "perl",
  "python3.11-minimal": "python3.11",
  udev: "systemd",
  "vim-common": "vim",
  "vim-tiny": "vim",
  "vim-runtime": "vim",
  xxd: "vim",
  zlib1g: "zlib",
};

const ENDS =
  /-(?:dev|doc|common|bin|data|utils|tools|core|base|minimal|runtime|server|client|cli|gnutls|openssl|dbg|l10n)$/;

/** The likeliest first. */
export function debSources(binary: string): string[] {
  const name = binary.replace(/:.*$/, "");
  const source = sources[name];
  if (source !== undefined && Object.hasOwn(sources, name)) return [source];
  const plain = name.replace(/t64$/, "").replace(ENDS, "");
  // libfoo3 and libfoo-1.2-3 are from libfoo, or from foo.
  const library = /^(lib.+?)-?[\d.]*(?:-\d+)?$/.exec(plain)?.[1];
  const names = [name, plain];
  if (library !== undefined) names.push(library, library.slice(3));
  return [...new Set(names)].filter((candidate) => candidate.length > 1);
}
