import Testing

/// Runs the tests of the bundle. SwiftPM would write the same, and look through an index of all tests for those of XCTest, of
/// which there are none.
@main struct TestRunner {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
