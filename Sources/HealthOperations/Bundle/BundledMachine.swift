import Foundation
import Glibc
import OperatingSystem
import PeerTrust

/// The machine in a support bundle: software versions and available resources, without names and addresses.
struct BundledMachine: Encodable {
  struct Disk: Encodable {
    var bytes: UInt64
    var freeBytes: UInt64
    var files: UInt64
    var freeFiles: UInt64
    var isReadOnly: Bool
  }

  /// The kernel's name, release and hardware.
  var kernel: [String]
  /// The name of the distribution.
  var distribution: String?
  /// The versions of installed packages, by package name.
  var packages: [String: String]
  var processors: Int
  var memoryKilobytes: Int?
  var availableKilobytes: Int?
  var disk: Disk?
  /// The limit on open files for this process.
  var openFilesLimit: Int
  var hasSystemd: Bool
  var isRoot: Bool
  /// The sizes of the files in the home, by name; files of other names together.
  var files: [String: Int64]

  private static let names = [
    "hpeer", "avahi-daemon", "libavahi-client3", "libc6", "libisal2", "libmosquitto1", "libnss-mdns", "libqrencode4",
    "libsqlite3-0", "libssl3", "libzip4", "libzstd1", "dbus", "firewalld", "nftables", "systemd", "tzdata", "ufw",
  ]

  static func look(at home: Home) async -> BundledMachine {
    let packages = await CommandRunner.run(
      "dpkg-query", ["--show", "--showformat=${db:Status-Abbrev} ${Package} ${Version}\\n"] + names)
    return await onThread { _ in BundledMachine(home, packages) }
  }

  private init(_ home: Home, _ packages: CommandOutcome) {
    var system = utsname()
    uname(&system)
    // utsname also has the machine's name, which is left out.
    kernel = [Self.text(system.sysname), Self.text(system.release), Self.text(system.machine)]
    distribution = Self.lines("/etc/os-release", separator: "=")["PRETTY_NAME"]?.trimmingCharacters(in: ["\""])
    var versions: [String: String] = [:]
    // If a package is unknown, dpkg-query fails but lists the others.
    if case .finished(_, let output, _) = packages {
      for line in output.split(separator: "\n") {
        let words = line.split(separator: " ")
        if words.count == 3, words[0] == "ii" { versions[String(words[1])] = String(words[2]) }
      }
    }
    self.packages = versions
    processors = ProcessInfo.processInfo.processorCount
    let memory = Self.lines("/proc/meminfo", separator: ":")
    func kilobytes(_ key: String) -> Int? { memory[key].flatMap { Int($0.split(separator: " ").first ?? "") } }
    (memoryKilobytes, availableKilobytes) = (kilobytes("MemTotal"), kilobytes("MemAvailable"))
    disk = DiskSpace(path: FileStatus.nearestExisting(home.directory)).map {
      Disk(
        bytes: $0.bytes, freeBytes: $0.freeBytes, files: $0.files, freeFiles: $0.freeFiles, isReadOnly: $0.isReadOnly)
    }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    openFilesLimit = Int(clamping: limit.rlim_cur)
    hasSystemd = FileStatus("/run/systemd/system") != nil
    isRoot = geteuid() == 0
    files = Self.sizes(in: home.directory)
  }

  /// Returns the sizes of files that this program creates, by name, and the total size of all others.
  private static func sizes(in directory: String) -> [String: Int64] {
    var sizes: [String: Int64] = [:]
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? [] {
      var status = stat()
      guard lstat("\(directory)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      let isOwn =
        name.wholeMatch(of: /(store|peers|statistics)\.sqlite(-wal|-shm|-journal)?|config\.toml|serve\.lock/) != nil
      sizes[isOwn ? name : "others", default: 0] += Int64(status.st_size)
    }
    return sizes
  }

  private static func lines(_ path: String, separator: Character) -> [String: String] {
    guard case .text(let text) = FileContents(path: path) else { return [:] }
    var lines: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: separator, maxSplits: 1)
      if parts.count == 2 { lines[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces) }
    }
    return lines
  }

  /// Returns the text in a C array of fixed length.
  private static func text<Field>(_ field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
