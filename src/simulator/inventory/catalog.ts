import { hashText } from "../random.ts";

export type Package = { name: string; version: string; previous: string; vendor: string; id: string };

const words = (text: string) => text.trim().split(/\s+/);

const UNIX_BASE = words(`
  bash coreutils curl openssl systemd sudo vim tar gzip grep sed gawk findutils util-linux procps iproute2 iputils openssh-server
  openssh-client ca-certificates gnupg less man-db nano rsync screen tmux wget zip unzip zlib1g bzip2 xz-utils git python3 perl
  make gcc g++ cmake docker-ce containerd podman nginx apache2 postgresql redis mariadb-server nodejs ruby golang openjdk-17-jre
  php-cli haproxy bind9 dnsmasq chrony rsyslog logrotate cron at dbus polkit udev kmod grub2 initramfs-tools linux-firmware
  network-manager wpasupplicant bluez cups samba nfs-common lvm2 mdadm cryptsetup parted e2fsprogs xfsprogs btrfs-progs strace
  lsof tcpdump nmap htop iotop jq tree file locales tzdata adduser passwd login apparmor auditd fail2ban ufw iptables nftables`);

const LIBRARIES = words(`
  acl attr blkid bz2 cap cairo crypt curl db dbus edit elf expat ffi fontconfig freetype fribidi gcc gcrypt gdbm glib gmp gnutls gpg
  gssapi harfbuzz idn icu jpeg json-c keyutils krb5 ldap lz4 lzma magic mnl mount mpfr ncurses nettle nghttp2 nl nspr nss numa
  p11-kit pam pango pcap pci pcre png popt psl readline sasl seccomp selinux semanage smartcols sqlite ssh ssl stdc systemd tasn
  tiff tinfo tirpc udev unistring usb uuid uv webp wrap x11 xau xcb xml xslt xxhash yaml zstd`);

const MODULES = words(`
  requests urllib3 certifi idna charset-normalizer setuptools pip wheel six PyYAML numpy pandas scipy boto3 botocore s3transfer
  jmespath cryptography cffi pycparser Jinja2 MarkupSafe click Flask Django SQLAlchemy psycopg2 redis celery pytest attrs pluggy
  packaging tqdm rich Pygments colorama python-dateutil pytz simplejson lxml beautifulsoup4 Pillow paramiko ansible-core`);

const NODE = words(`
  npm corepack typescript eslint prettier yarn pnpm webpack rollup vite vitest nodemon pm2 serve http-server ts-node tsx esbuild
  create-react-app @angular/cli @vue/cli express lodash semver rimraf cross-env`);

const APPS = words(`
  Safari Mail Notes Calendar Photos Music Podcasts Maps Messages FaceTime Reminders Preview TextEdit Terminal Console Chess Stocks
  News Home Books Keynote Numbers Pages GarageBand iMovie Xcode Google_Chrome Firefox Slack zoom.us Microsoft_Word Microsoft_Excel
  Microsoft_PowerPoint Microsoft_Outlook Microsoft_Teams OneDrive Visual_Studio_Code iTerm 1Password Docker Postman Figma Notion
  Spotify Dropbox Rectangle Alfred Sketch TablePlus Wireshark VLC GIMP Inkscape Blender Signal WhatsApp Telegram Obsidian Zotero
  Transmit BBEdit IntelliJ_IDEA PyCharm GoLand WebStorm Android_Studio VirtualBox UTM VMware_Fusion Adobe_Acrobat_Reader
  Adobe_Photoshop_2025 Adobe_Illustrator_2025 Jabra_Direct Logi_Options+ GlobalProtect Cisco_AnyConnect Tailscale Loom Grammarly
  Miro Linear Raycast Arc Brave_Browser Microsoft_Edge Opera Tor_Browser Cyberduck FileZilla HandBrake OBS Audacity calibre`);

const PROGRAMS = words(`
  7-Zip Google_Chrome Mozilla_Firefox Microsoft_Edge Microsoft_OneDrive Microsoft_Teams Microsoft_Office_Professional_Plus_2021
  Notepad++ Git Python_3.12 Node.js VLC_media_player Zoom_Workplace Slack Visual_Studio_Code Docker_Desktop PuTTY WinSCP FileZilla
  Adobe_Acrobat_Reader Java_8_Update_401 Microsoft_.NET_Runtime Microsoft_Visual_C++_2015-2022_Redistributable_(x64)
  Microsoft_Visual_C++_2013_Redistributable_(x64) Microsoft_SQL_Server_Management_Studio PowerShell_7-x64 Windows_SDK_AddOn
  Intel(R)_Graphics_Driver Realtek_High_Definition_Audio_Driver Dell_Command_|_Update Lenovo_Vantage_Service HP_Support_Assistant
  TeamViewer AnyDesk GIMP Inkscape Blender Audacity OBS_Studio Wireshark Postman DBeaver IntelliJ_IDEA PyCharm KeePass_Password_Safe
  1Password Bitwarden Dropbox Google_Drive Citrix_Workspace VMware_Tools Oracle_VM_VirtualBox CrowdStrike_Windows_Sensor Sysmon
  Microsoft_Update_Health_Tools Microsoft_Intune_Management_Extension Local_Administrator_Password_Solution Greenshot ShareX
  PDFsam_Basic LibreOffice_24.2 WinRAR Everything PowerToys Sysinternals_Suite Cisco_Secure_Client GlobalProtect Webex Miro Figma`);

const EXTENSIONS = words(`
  uBlock_Origin Google_Docs_Offline Grammarly LastPass 1Password Bitwarden React_Developer_Tools Vue.js_devtools JSON_Formatter
  Dark_Reader Adblock_Plus Honey Zoom_Scheduler Loom Save_to_Pocket Evernote_Web_Clipper Google_Translate Momentum OneTab
  ColorZilla Wappalyzer Lighthouse Postman_Interceptor Tampermonkey Privacy_Badger HTTPS_Everywhere Todoist Notion_Web_Clipper
  Checker_Plus Video_Speed_Controller Session_Buddy Awesome_Screenshot Vimium Stylus Redux_DevTools Okta_Browser_Plugin`);

const EDITOR = words(`
  python pylance jupyter cpptools csharp vscode-eslint prettier-vscode gitlens remote-ssh remote-containers docker go rust-analyzer
  vscode-yaml material-icon-theme live-server copilot intellicode code-spell-checker tailwindcss errorlens markdown-all-in-one`);

const BREW = words(`
  openssl@3 readline sqlite xz python@3.12 git node yarn go rust cmake pkg-config jq yq wget tree htop tmux neovim ripgrep fd fzf bat
  gh awscli terraform kubernetes-cli helm k9s ffmpeg imagemagick postgresql@16 redis mysql nginx gnupg pinentry-mac coreutils gnu-sed
  grep zsh fish starship lazygit shellcheck pre-commit poetry pipx uv deno bun`);

const libraries = LIBRARIES.flatMap((name) => [`lib${name}`, `lib${name}-common`, `lib${name}-dev`]);
const tools = UNIX_BASE.flatMap((name) => [`${name}-data`, `${name}-doc`]);
const modules = MODULES.map((name) => `python3-${name.toLowerCase()}`);

/** Shared templates from which every simulated host draws its software. */
export const CATALOG = {
  unix: packages([...UNIX_BASE, ...libraries, ...modules, ...tools], "maintainers"),
  python: packages(MODULES, "python"),
  npm: packages(NODE, "npm"),
  apps: packages(APPS, "com.example"),
  programs: packages(PROGRAMS, "Example Corporation"),
  chrome: packages(EXTENSIONS, "chrome"),
  firefox: packages(EXTENSIONS.slice(0, 20), "firefox"),
  vscode: packages(EDITOR, "example"),
  homebrew: packages(BREW, "homebrew"),
} as const;

export type CatalogName = keyof typeof CATALOG;

function packages(names: readonly string[], vendor: string): readonly Package[] {
  return names.map((raw) => {
    const name = raw.replaceAll("_", " ");
    const hash = hashText(`${vendor}/${name}`);
    const major = hash % 20;
    const minor = (hash >>> 5) % 40;
    const patch = (hash >>> 11) % 12;
    return {
      name,
      version: `${major}.${minor}.${patch + 1}`,
      previous: `${major}.${minor}.${patch}`,
      vendor,
      id: letters(hash),
    };
  });
}

/** The letters a to p, as in the identifiers of browser extensions. */
function letters(hash: number): string {
  let text = "";
  for (let i = 0, h = hash; i < 32; i++) {
    h = (Math.imul(h, 1664525) + 1013904223) >>> 0;
    text += String.fromCharCode(97 + (h >>> 28));
  }
  return text;
}
