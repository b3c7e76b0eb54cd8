import Foundation
import Testing

/// A disk that is nearly full: hpeer stops while there is still room for what matters.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: getuid() == 0, "mounting needs root"))
struct LowDiskTests {
  @Test("an import stops with code 5 before the disk is full, and the same command finishes when there is room")
  func importing() async throws {
    let scratch = try Scratch()
    let host = scratch.host("home")
    let export = try await SampleExport.small.path
    let mounted = try await host.sh(
      "mkdir -m 700 '\(host.home)' && mount -t tmpfs -o size=128m,mode=0700 tmpfs '\(host.home)'")
    try #require(mounted.status == 0, "\(mounted.errors)")
    let result: Result<Void, any Error>
    do { result = .success(try await importing(export, host)) } catch { result = .failure(error) }
    #expect(try await host.sh("umount -l '\(host.home)'").status == 0)
    try result.get()
  }

  private func importing(_ export: String, _ host: Host) async throws {
    // A twentieth of this disk is to stay free: 6.4 MB.
    let filler = host.home + "/filler"
    let filled = try await host.sh(
      "fallocate -l $(( $(stat -f -c '%a * %S' '\(host.home)') - 5000000 )) '\(filler)'")
    try #require(filled.status == 0, "\(filled.errors)")
    let stopped = try await host.run("import", export)
    #expect(stopped.status == 1, "\(stopped.errors)")
    #expect(stopped.errors.contains("make room") && stopped.errors.split(separator: "\n").count == 1)
    #expect(try await host.sampleCount() == 0)
    try FileManager.default.removeItem(atPath: filler)
    #expect(try await host.run("import", export).status == 0)
    #expect(try await host.sampleCount() > 0)
  }
}
