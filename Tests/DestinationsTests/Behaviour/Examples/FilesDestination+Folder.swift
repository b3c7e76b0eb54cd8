import Foundation

extension FilesDestination {
  /// Without settings, which not every test has.
  init(folder: URL) { self.folder = folder }
}
