import Dispatch
import Testing

/// The entry point of the test bundle. SwiftPM would generate the same, but also search the index of all tests for
/// XCTest cases, of which there are none.
@main struct TestRunner {
  /// Runs all tests. Not asynchronous, because the optimizer gives the entry of an asynchronous `main` the same name
  /// in every module, and the linker might choose hpeer's, which is also in the bundle.
  static func main() {
    Task { await Testing.__swiftPMEntryPoint() as Never }
    dispatchMain()
  }
}
