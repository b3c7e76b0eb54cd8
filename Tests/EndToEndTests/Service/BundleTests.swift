import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct BundleTests {
  @Test("doctor --bundle writes a file that tar unpacks, without names of this machine")
  func bundle() async throws {
    let scratch = try Scratch()
    let host = scratch.host("home")
    try await host.hold(.small)
    let path = scratch.path + "/bundle.tar.gz"
    let examined = try await host.run("doctor", "--bundle", path)
    #expect([0, 1].contains(examined.status), "\(examined.errors)")
    let unpacked = try await host.sh(
      "cd '\(scratch.path)' && tar -xzf bundle.tar.gz && cat hpeer-bundle/*.json hpeer-bundle/README.txt")
    #expect(unpacked.status == 0 && unpacked.output.contains("disk."), "\(unpacked.errors)")
    #expect(!unpacked.output.contains(scratch.path))
    #expect(!unpacked.output.contains("HKQuantity") && !unpacked.output.contains("Watch"))
    // Never in the place of another.
    #expect(try await host.run("doctor", "--bundle", path).status == 2)
  }
}
