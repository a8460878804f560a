// Parts of the C++ library, of which a compiler makes hundreds of functions (docs/tutorial/programs.md).
#include <deque>
#include <list>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

template class std::basic_regex<char>;
template class std::vector<std::string>;
template class std::deque<std::string>;
template class std::list<std::string>;
template class std::map<std::string, int>;
template class std::set<double>;
template class std::unordered_map<std::string, int>;
