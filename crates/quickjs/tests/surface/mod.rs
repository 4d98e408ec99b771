mod fibers;
