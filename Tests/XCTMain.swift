import Dispatch
import Testing

/// Runs the tests of the bundle. SwiftPM would write the same, and look through an index of all tests for those of XCTest, of
/// which there are none.
@main struct TestRunner {
  /// Not asynchronous: the optimizer names what starts an asynchronous `main` the same in every module, and the bundle holds
  /// hpeer's too, which the linker may choose instead.
  static func main() {
    Task { await Testing.__swiftPMEntryPoint() as Never }
    dispatchMain()
  }
}
