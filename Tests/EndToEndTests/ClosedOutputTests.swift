import Foundation
import Testing

/// Tests with standard output closed or not writable: a command that couldn't print its result must not succeed.
@Suite(.timeLimit(.minutes(5)))
struct ClosedOutputTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private static let commands = [
    "types", "types --json", "show heartRate", "export", "export --format csv", "export --format ndjson",
    "export --format apple-xml", "digest",
    "audit", "audit verify", "identity", "peers --json", "--version", "--help", "help pull",
  ]

  @Test("what prints data to a closed standard output ends with code 1, says so, and harms nothing")
  func closed() async throws {
    let home = scratch.host("home")
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let before = try await home.run("digest", "--deep").output
    for command in Self.commands {
      for redirection in [">&-", ">/dev/full", "<&- >&-"] {
        let outcome = try await home.sh("HPEER_HOME='\(home.home)' '\(Build.hpeer)' \(command) \(redirection)")
        #expect(outcome.status == 1, "\(command) \(redirection): \(outcome.errors)")
        #expect(outcome.errors.contains("could not be written"), "\(command) \(redirection): \(outcome.errors)")
        #expect(!outcome.errors.contains(" exported"), "\(command) \(redirection): \(outcome.errors)")
      }
    }
    #expect(try await home.run("digest", "--deep").output == before)
  }

  @Test("without any of the three streams, the files of the store are not written as if they were one")
  func allClosed() async throws {
    let home = scratch.host("home")
    let small = try await SampleExport.small.path
    let script = "HPEER_HOME='\(home.home)' '\(Build.hpeer)' import '\(small)' <&- >&- 2>&-"
    #expect(try await home.sh(script).status == 1)
    let other = scratch.host("other")
    #expect(try await other.run("import", small).status == 0)
    #expect(try await home.contents() == other.contents())
    #expect(try await home.run("audit", "verify").status == 0)
  }

  @Test("a server that shall print payloads does not begin where nobody can read them")
  func serving() async throws {
    let home = scratch.host("home")
    let options = "--port 0 --no-advertise --bind 127.0.0.1 --pairing-json"
    let outcome = try await home.sh("HPEER_HOME='\(home.home)' '\(Build.hpeer)' serve \(options) >&-")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("could not be written"), "\(outcome.errors)")
  }

  @Test("an export into a file needs no standard output")
  func file() async throws {
    let home = scratch.host("home")
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let path = scratch.path + "/export.json"
    let outcome = try await home.sh("HPEER_HOME='\(home.home)' '\(Build.hpeer)' export --output '\(path)' >&-")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try await scratch.host("other").run("import", path).status == 0)
  }
}
