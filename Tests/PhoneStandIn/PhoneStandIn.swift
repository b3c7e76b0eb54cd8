import Foundation
import PeerDiscovery
import PhoneApps

/// A phone for tests that run the built program: it serves a simulated app, announces the app through avahi-daemon,
/// and obeys commands from standard input, one per line. Standard output has `ready PORT FINGERPRINT` and the
/// answers.
@main
struct PhoneStandIn {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4 else {
      throw Usage(description: "phone-stand-in hat|hsi NAME HOST [COUNT-OF-HEART-RATES [PORT]]")
    }
    let phone = try StandIn(kind: arguments[1], name: arguments[2], host: arguments[3])
    if arguments.count > 4, let count = Int(arguments[4]) { phone.addHeartRates(count) }
    try await phone.start(at: arguments.count > 5 ? Int(arguments[5]) ?? 0 : 0)
    while let line = await Self.nextLine() {
      let words = line.split(separator: " ").map(String.init)
      try await phone.obey(words)
    }
  }

  struct Usage: Error, CustomStringConvertible { var description: String }

  private static func nextLine() async -> String? {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: readLine()) }
    }
  }
}
