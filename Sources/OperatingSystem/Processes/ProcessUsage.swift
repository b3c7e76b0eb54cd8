import Glibc

/// The resources that a process uses, as in proc(5).
public struct ProcessUsage: Hashable, Sendable {
  /// The resident memory, in bytes.
  public var residentBytes: Int
  /// The number of open descriptors.
  public var descriptors: Int
  /// The processor time, user and system, in seconds.
  public var processorSeconds: Double
  /// The start time, in seconds since 1970.
  public var started: Double

  /// Returns the usage of this process; `nil` if the kernel does not report it.
  public static func current() -> ProcessUsage? {
    guard case .text(let text) = FileContents(path: "/proc/self/stat"),
      case .text(let system) = FileContents(path: "/proc/stat"),
      let boot = system.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }).flatMap({
        Double($0.dropFirst(6))
      }),
      let end = text.lastIndex(of: ")")
    else { return nil }
    // From the third field on: the second is a name that may hold anything.
    let fields = text[text.index(after: end)...].split(separator: " ")
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    guard fields.count > 21, ticks > 0, let user = Double(fields[11]), let kernel = Double(fields[12]),
      let start = Double(fields[19]), let pages = Int(fields[21])
    else { return nil }
    return ProcessUsage(
      residentBytes: pages * Int(getpagesize()), descriptors: openDescriptors(),
      processorSeconds: (user + kernel) / ticks, started: boot + start / ticks)
  }

  private static func openDescriptors() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) { if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 } }
    // This listing itself has one descriptor open.
    return max(0, count - 1)
  }
}
